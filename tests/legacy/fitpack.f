C@ f2c
      SUBROUTINE FPBSPL(M,K,N,T,X,L,H,NH)
C     B-SPLINES AT MANY POINTS: A WORK ARRAY FOR EACH POINT
      INTEGER M,K,N,NH,L(*),I,J,IP,LI,LJ
      DOUBLE PRECISION T(N),X(*),H(NH,*),HH(6),B(6),F
C@ begin m=100000 k=3 n=64 nh=4 | extent = ['t[n]']
      DO 30 IP = 1,M
         B(1) = 1.0D0
         DO 20 J = 1,K
            DO 5 I = 1,J
               HH(I) = B(I)
    5       CONTINUE
            B(1) = 0.0D0
            DO 10 I = 1,J
               LI = L(IP) + I
               LJ = LI - J
               F = HH(I)/(T(LI)-T(LJ))
               B(I) = B(I) + F*(T(LI)-X(IP))
               B(I+1) = F*(X(IP)-T(LJ))
   10       CONTINUE
   20    CONTINUE
         DO 25 I = 1,K + 1
            H(I,IP) = B(I)
   25    CONTINUE
   30 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE FPGIVS(N,M,A,LDA,C,S)
C     A ROTATION APPLIED TO TWO ROWS
      INTEGER N,M,LDA,I
      DOUBLE PRECISION A(LDA,*),C,S,STOR1,STOR2
C@ begin n=1024 m=4 lda=1024
      DO 10 I = 1,N
         STOR1 = A(1,I)
         STOR2 = A(M,I)
         A(M,I) = C*STOR2 + S*STOR1
         A(1,I) = C*STOR1 - S*STOR2
   10 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE FPBACK(A,Z,N,K,C,NEST)
C     BACK SUBSTITUTION WITH A BAND
      INTEGER N,K,NEST,I,I1,J,K1,L,M
      DOUBLE PRECISION A(NEST,K),Z(*),C(*),STORE
C@ begin n=4096 k=4 nest=4096
      K1 = K - 1
      C(N) = Z(N)/A(N,1)
      I = N - 1
      DO 20 J = 2,N
         STORE = Z(I)
         I1 = K1
         IF (J.LE.K1) I1 = J - 1
         M = I
         DO 10 L = 1,I1
            M = M + 1
            STORE = STORE - C(M)*A(I,L+1)
   10    CONTINUE
         C(I) = STORE/A(I,1)
         I = I - 1
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE FPBISP(MX,MY,KX1,KY1,NKY1,WX,WY,LX,LY,C,NC,Z)
C     A TENSOR SPLINE OVER A GRID
      INTEGER MX,MY,KX1,KY1,NKY1,NC,LX(*),LY(*),I,I1,J,J1,L,L1,L2,M
      DOUBLE PRECISION WX(MX,*),WY(MY,*),C(NC),Z(*),SP,H(6)
C@ begin mx=512 my=512 kx1=4 ky1=4 nky1=60 nc=3600 | extent = ['c__[nc]']
      M = 0
      DO 130 I = 1,MX
         L = LX(I)*NKY1
         DO 85 I1 = 1,KX1
            H(I1) = WX(I,I1)
   85    CONTINUE
         DO 120 J = 1,MY
            L1 = L + LY(J)
            SP = 0.0D0
            DO 110 I1 = 1,KX1
               L2 = L1
               DO 100 J1 = 1,KY1
                  L2 = L2 + 1
                  SP = SP + C(L2)*H(I1)*WY(J,J1)
  100          CONTINUE
               L1 = L1 + NKY1
  110       CONTINUE
            M = M + 1
            Z(M) = SP
  120    CONTINUE
  130 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE FPRESI(M,Y,W,S,FP,FPINT)
C     RESIDUALS: SUM, LARGEST, AND A GOTO PAST ZERO WEIGHTS
      INTEGER M,IT
      DOUBLE PRECISION Y(*),W(*),S(*),FP,FPINT,TERM
C@ begin m=1000000
      FP = 0.0D0
      FPINT = 0.0D0
      DO 180 IT = 1,M
         IF (W(IT).EQ.0.0D0) GO TO 180
         TERM = (W(IT)*(Y(IT)-S(IT)))**2
         FP = FP + TERM
         IF (TERM.GT.FPINT) FPINT = TERM
  180 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE CUBSPL(N,X,Y,B,C,D)
C     COEFFICIENTS OF A CUBIC SPLINE FROM ITS SECOND DERIVATIVES
      INTEGER N,I
      DOUBLE PRECISION X(*),Y(*),B(*),C(*),D(*)
C@ begin n=1000000
      DO 40 I = 1,N - 1
         D(I) = X(I+1) - X(I)
         B(I) = (Y(I+1)-Y(I))/D(I) - D(I)*(C(I+1) + 2.0D0*C(I))
         D(I) = (C(I+1)-C(I))/D(I)
         C(I) = 3.0D0*C(I)
   40 CONTINUE
C@ end
      RETURN
      END
