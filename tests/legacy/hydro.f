C@ f2c
      SUBROUTINE EOSIDL(NX,NY,DENS,ENER,PRES,SNDSPD)
C     AN IDEAL GAS
      INTEGER NX,NY,J,K
      DOUBLE PRECISION DENS(NX,NY),ENER(NX,NY),PRES(NX,NY)
      DOUBLE PRECISION SNDSPD(NX,NY),V,PE,PV,S2
C@ begin nx=1024 ny=1024
      DO 20 K = 1,NY
         DO 10 J = 1,NX
            V = 1.0D0/DENS(J,K)
            PRES(J,K) = 0.4D0*DENS(J,K)*ENER(J,K)
            PE = 0.4D0*DENS(J,K)
            PV = -DENS(J,K)*PRES(J,K)
            S2 = V*V*(PRES(J,K)*PE - PV)
            SNDSPD(J,K) = DSQRT(DABS(S2))
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE CALCDT(NX,NY,U,V,C,DX,DY,DTMIN,JMIN,KMIN)
C     THE SMALLEST STEP IN TIME, AND WHERE IT IS
      INTEGER NX,NY,JMIN,KMIN,J,K
      DOUBLE PRECISION U(NX,NY),V(NX,NY),C(NX,NY),DX,DY,DTMIN,DT
C@ begin nx=1024 ny=1024 | disjoint = True
      DTMIN = 1.0D30
      DO 20 K = 1,NY
         DO 10 J = 1,NX
            DT = DMIN1(DX/(DABS(U(J,K)) + C(J,K) + 1.0D0),
     1                 DY/(DABS(V(J,K)) + C(J,K) + 1.0D0))
            IF (DT.LT.DTMIN) THEN
               DTMIN = DT
               JMIN = J
               KMIN = K
            END IF
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE CALDT2(NX,NY,U,V,C,DX,DY,DTMIN)
      INTEGER NX,NY,J,K
      DOUBLE PRECISION U(NX,NY),V(NX,NY),C(NX,NY),DX,DY,DTMIN
C@ begin nx=1024 ny=1024
      DO 20 K = 1,NY
         DO 10 J = 1,NX
            DTMIN = DMIN1(DTMIN,DX/(DABS(U(J,K)) + C(J,K) + 1.0D0),
     1                    DY/(DABS(V(J,K)) + C(J,K) + 1.0D0))
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE VISCOS(NX,NY,U,V,P,D,Q)
C     ARTIFICIAL VISCOSITY: A CONDITION IN EACH CELL
      INTEGER NX,NY,J,K
      DOUBLE PRECISION U(NX+1,NY+1),V(NX+1,NY+1),P(0:NX+1,0:NY+1)
      DOUBLE PRECISION D(NX,NY),Q(NX,NY),UG,VG,DIV,PGX,PGY
C@ begin nx=512 ny=512
      DO 20 K = 1,NY
         DO 10 J = 1,NX
            UG = (U(J+1,K) + U(J+1,K+1)) - (U(J,K) + U(J,K+1))
            VG = (V(J,K+1) + V(J+1,K+1)) - (V(J,K) + V(J+1,K))
            DIV = UG + VG
            PGX = P(J+1,K) - P(J-1,K)
            PGY = P(J,K+1) - P(J,K-1)
            IF (DIV.GE.0.0D0 .OR. PGX*PGY.GT.0.0D0) THEN
               Q(J,K) = 0.0D0
            ELSE
               Q(J,K) = 2.0D0*D(J,K)*DIV*DIV
            END IF
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE ADVECX(NX,NY,F,D,VOL)
C     UPWIND FLUXES: THE DONOR BY IF, THE LIMITER BY MIN AND SIGN
      INTEGER NX,NY,J,K,UPW,DNW,DIF
      DOUBLE PRECISION F(NX,NY),D(-1:NX+2,NY),VOL(NX,NY)
      DOUBLE PRECISION SIG,DW,DU,DIFF,ADV
C@ begin nx=512 ny=512
      DO 20 K = 1,NY
         DO 10 J = 1,NX
            IF (F(J,K).GT.0.0D0) THEN
               UPW = J - 2
               DNW = J - 1
               DIF = J
            ELSE
               UPW = J + 1
               DNW = J
               DIF = J - 1
            END IF
            SIG = DABS(F(J,K))/(VOL(J,K) + 8.0D0)
            DU = D(DNW,K) - D(UPW,K)
            DW = D(DIF,K) - D(DNW,K)
            ADV = 0.0D0
            IF (DU*DW.GT.0.0D0) ADV = (1.0D0-SIG)*DSIGN(1.0D0,DW)
     1         *DMIN1(DABS(DU),DABS(DW))
            F(J,K) = F(J,K)*(D(DNW,K) + ADV)
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE ACCEL(NX,NY,XV,YV,P,Q,DM,DT)
C     WITH A WORK SCALAR OF THE CELL AND NODES AS UPPER LIMITS
      INTEGER NX,NY,J,K,JP,KP
      DOUBLE PRECISION XV(NX,NY),YV(NX,NY),P(NX,NY),Q(NX,NY),DM(NX,NY)
      DOUBLE PRECISION DT,SBM
C@ begin nx=1024 ny=1024
      DO 20 K = 2,NY
         DO 10 J = 2,NX
            SBM = DT/((DM(J-1,K-1) + DM(J,K-1) + DM(J,K) + DM(J-1,K))
     1         *0.25D0 + 8.0D0)
            XV(J,K) = XV(J,K) - SBM*(P(J,K) - P(J-1,K))
            YV(J,K) = YV(J,K) - SBM*(P(J,K) - P(J,K-1))
            XV(J,K) = XV(J,K) - SBM*(Q(J,K) - Q(J-1,K))
            YV(J,K) = YV(J,K) - SBM*(Q(J,K) - Q(J,K-1))
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE FLDSUM(NX,NY,VOL,D,E,P,TVOL,TMASS,TIE,TP)
C     FOUR SUMS AT ONCE
      INTEGER NX,NY,J,K
      DOUBLE PRECISION VOL(NX,NY),D(NX,NY),E(NX,NY),P(NX,NY)
      DOUBLE PRECISION TVOL,TMASS,TIE,TP,CV,CM
C@ begin nx=1024 ny=1024
      TVOL = 0.0D0
      TMASS = 0.0D0
      TIE = 0.0D0
      TP = 0.0D0
      DO 20 K = 1,NY
         DO 10 J = 1,NX
            CV = VOL(J,K)
            CM = CV*D(J,K)
            TVOL = TVOL + CV
            TMASS = TMASS + CM
            TIE = TIE + CM*E(J,K)
            TP = TP + CV*P(J,K)
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE PPMLR(N,M,A,AL,AR,DA)
C     PARABOLAE ALONG LINES, WORK ARRAYS OF A LINE
      INTEGER N,M,I,J
      DOUBLE PRECISION A(N,M),AL(N,M),AR(N,M),DA(N),D1,D2
C@ begin n=512 m=512
      DO 40 J = 1,M
         DO 10 I = 2,N - 1
            D1 = 2.0D0*(A(I,J) - A(I-1,J))
            D2 = 2.0D0*(A(I+1,J) - A(I,J))
            DA(I) = 0.5D0*(A(I+1,J) - A(I-1,J))
            IF (D1*D2.GT.0.0D0) THEN
               DA(I) = DSIGN(DMIN1(DABS(DA(I)),DABS(D1),DABS(D2)),DA(I))
            ELSE
               DA(I) = 0.0D0
            END IF
   10    CONTINUE
         DO 20 I = 2,N - 2
            AR(I,J) = 0.5D0*(A(I,J) + A(I+1,J)) - (DA(I+1) - DA(I))
            AL(I+1,J) = AR(I,J)
   20    CONTINUE
   40 CONTINUE
C@ end
      RETURN
      END
